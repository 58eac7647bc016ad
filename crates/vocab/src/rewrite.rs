//! The acts that change what an agent's earlier request already sent (02 §1.3).

use crate::words::words;

words! {
    /// Why a request does not extend the one before it.
    Rewrite ("rewrite") {
        /// A file view was evicted.
        EvictFileView = "evict_file_view",
        /// Turns were archived.
        ArchiveThread = "archive_thread",
        /// A view was closed.
        CloseView = "close_view",
        /// A documentation view was closed.
        CloseDocs = "close_docs",
        /// A compaction restarted the window.
        Compaction = "compaction",
        /// A superseded view lost its picture.
        SupersededPicture = "superseded_picture",
        /// The provider refuses pictures, and all were taken out.
        PicturesRefused = "pictures_refused",
        /// A successor's system prompt took its predecessor's place.
        SystemPrompt = "system_prompt",
        /// The offered tools changed.
        Toolset = "toolset",
        /// The run moved to another provider, which cannot read the last one's reasoning.
        ProviderMove = "provider_move",
    }
}
