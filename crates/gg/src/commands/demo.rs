use crate::cli::DemoArgs;
pub(super) fn run(_args: &DemoArgs) -> anyhow::Result<u8> {
    anyhow::bail!("pending")
}
