pub(super) fn run() -> anyhow::Result<u8> {
    anyhow::bail!("pending")
}
