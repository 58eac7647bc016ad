//! The files of a guest: those of WASI, but for what no guest opens (04 §13, R23).
//!
//! A guest's files are opened in gg's own process, where `/proc/self` is gg: its memory, with the key
//! in it, its code, its open files. So what was opened is looked at before the guest is given it, and
//! no spelling of a path matters. A named pipe is not opened at all: a guest could neither read nor
//! write it, since its files are read by position, and its thread would hang until somebody else
//! opens the other end.
//!
//! Always true: a guest gets a descriptor from here alone; all but opening is WASI's.

use tools::procfs;
use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemCtxView, WasiFilesystemView};
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
    DirectoryEntryStream, ErrorCode, Filesize, Host, HostDescriptor, HostDirectoryEntryStream,
    MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError};

use crate::vessel::State;

/// Puts these files in the place of WASI's own, which the linker has.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    let added = types::add_to_linker::<State, Files>(linker, |state| Guarded(state.filesystem()));
    linker.allow_shadowing(false);
    added
}

struct Files;

impl HasData for Files {
    type Data<'a> = Guarded<'a>;
}

struct Guarded<'a>(WasiFilesystemCtxView<'a>);

impl Host for Guarded<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.0.convert_error_code(error)
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        self.0.filesystem_error_code(error)
    }
}

/// Methods that are WASI's own.
macro_rules! as_wasi {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        $(async fn $name(&mut self, $($argument: $kind),*) -> $result {
            self.0.$name($($argument),*).await
        })*
    };
}

impl HostDescriptor for Guarded<'_> {
    async fn open_at(
        &mut self,
        folder: Resource<Descriptor>,
        follow: PathFlags,
        path: String,
        how: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let again = Resource::new_borrow(folder.rep());
        let there = self.0.stat_at(again, follow, path.clone()).await;
        // WASI has no word for a pipe or a socket. What is not there may be about to be made.
        if there.is_ok_and(|there| there.type_ == DescriptorType::Unknown) {
            return Err(ErrorCode::Unsupported.into());
        }
        let opened = self.0.open_at(folder, follow, path, how, flags).await?;
        let of_process = match self.0.table.get(&opened)? {
            Descriptor::File(file) => procfs::of_process(&*file.file),
            Descriptor::Dir(folder) => procfs::of_process(&*folder.dir),
        };
        if of_process {
            self.0.table.delete(opened)?;
            return Err(ErrorCode::NotPermitted.into());
        }
        Ok(opened)
    }

    as_wasi! {
        advise(fd: Resource<Descriptor>, at: Filesize, len: Filesize, advice: Advice) -> FsResult<()>;
        sync_data(fd: Resource<Descriptor>) -> FsResult<()>;
        get_flags(fd: Resource<Descriptor>) -> FsResult<DescriptorFlags>;
        get_type(fd: Resource<Descriptor>) -> FsResult<DescriptorType>;
        set_size(fd: Resource<Descriptor>, size: Filesize) -> FsResult<()>;
        set_times(
            fd: Resource<Descriptor>,
            accessed: NewTimestamp,
            modified: NewTimestamp
        ) -> FsResult<()>;
        read(fd: Resource<Descriptor>, len: Filesize, at: Filesize) -> FsResult<(Vec<u8>, bool)>;
        write(fd: Resource<Descriptor>, bytes: Vec<u8>, at: Filesize) -> FsResult<Filesize>;
        read_directory(fd: Resource<Descriptor>) -> FsResult<Resource<DirectoryEntryStream>>;
        sync(fd: Resource<Descriptor>) -> FsResult<()>;
        create_directory_at(fd: Resource<Descriptor>, path: String) -> FsResult<()>;
        stat(fd: Resource<Descriptor>) -> FsResult<DescriptorStat>;
        stat_at(
            fd: Resource<Descriptor>,
            follow: PathFlags,
            path: String
        ) -> FsResult<DescriptorStat>;
        set_times_at(
            fd: Resource<Descriptor>,
            follow: PathFlags,
            path: String,
            accessed: NewTimestamp,
            modified: NewTimestamp
        ) -> FsResult<()>;
        link_at(
            fd: Resource<Descriptor>,
            follow: PathFlags,
            path: String,
            to: Resource<Descriptor>,
            new: String
        ) -> FsResult<()>;
        readlink_at(fd: Resource<Descriptor>, path: String) -> FsResult<String>;
        remove_directory_at(fd: Resource<Descriptor>, path: String) -> FsResult<()>;
        rename_at(
            fd: Resource<Descriptor>,
            path: String,
            to: Resource<Descriptor>,
            new: String
        ) -> FsResult<()>;
        symlink_at(fd: Resource<Descriptor>, target: String, path: String) -> FsResult<()>;
        unlink_file_at(fd: Resource<Descriptor>, path: String) -> FsResult<()>;
        is_same_object(
            one: Resource<Descriptor>,
            other: Resource<Descriptor>
        ) -> wasmtime::Result<bool>;
        metadata_hash(fd: Resource<Descriptor>) -> FsResult<MetadataHashValue>;
        metadata_hash_at(
            fd: Resource<Descriptor>,
            follow: PathFlags,
            path: String
        ) -> FsResult<MetadataHashValue>;
    }

    fn read_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
        at: Filesize,
    ) -> FsResult<Resource<DynInputStream>> {
        self.0.read_via_stream(fd, at)
    }

    fn write_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
        at: Filesize,
    ) -> FsResult<Resource<DynOutputStream>> {
        self.0.write_via_stream(fd, at)
    }

    fn append_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
    ) -> FsResult<Resource<DynOutputStream>> {
        self.0.append_via_stream(fd)
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        HostDescriptor::drop(&mut self.0, fd)
    }
}

impl HostDirectoryEntryStream for Guarded<'_> {
    as_wasi! {
        read_directory_entry(
            entries: Resource<DirectoryEntryStream>
        ) -> FsResult<Option<DirectoryEntry>>;
    }

    fn drop(&mut self, entries: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        HostDirectoryEntryStream::drop(&mut self.0, entries)
    }
}
