use crate::cli::NewArgs;
pub(super) fn run(_args: &NewArgs) -> anyhow::Result<u8> {
    anyhow::bail!("pending")
}
