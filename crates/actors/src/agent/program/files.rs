//! The workspace's files, as a program reads and writes them (04 §3).

use sandbox::contract as wit;
use sandbox::services::{Call, Files};
use vocab::failure::Failure;

use super::{Serving, unfilled};

impl Files for Serving {
    fn read_file(
        &mut self,
        _: &Call,
        _: String,
        _: Option<u32>,
        _: Option<u32>,
    ) -> Result<wit::FileRead, Failure> {
        Err(unfilled())
    }

    fn read_text_file(
        &mut self,
        _: &Call,
        _: String,
        _: Option<u32>,
        _: Option<u32>,
    ) -> Result<String, Failure> {
        Err(unfilled())
    }

    fn write_file(&mut self, _: &Call, _: String, _: String) -> Result<u64, Failure> {
        Err(unfilled())
    }

    fn edit_file(&mut self, _: &Call, _: String, _: String, _: String) -> Result<(), Failure> {
        Err(unfilled())
    }

    fn list_dir(&mut self, _: &Call, _: Option<String>) -> Result<Vec<wit::DirEntry>, Failure> {
        Err(unfilled())
    }

    fn search(
        &mut self,
        _: &Call,
        _: String,
        _: Option<String>,
        _: Option<u32>,
    ) -> Result<Vec<wit::SearchMatch>, Failure> {
        Err(unfilled())
    }
}
