use crate::cli::CheckArgs;
pub(super) fn run(_args: &CheckArgs) -> anyhow::Result<u8> {
    anyhow::bail!("pending")
}
