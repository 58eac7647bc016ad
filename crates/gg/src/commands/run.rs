use crate::cli::RunArgs;
pub(super) fn run(_args: &RunArgs) -> anyhow::Result<u8> {
    anyhow::bail!("pending")
}
