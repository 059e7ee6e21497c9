/** Files of workspaces. Made by 0025. */
export interface FileTables {
  files: FilesTable
  file_pieces: FilePiecesTable
}

export interface FilesTable {
  id: string
  workspace_id: string
  filename: string
  mime_type: string
  /** The bytes that are here, also of a file that still comes. */
  size_bytes: number
  /** 0 while it comes. */
  complete: number
  /** Since when it is complete; before, when its last piece came. */
  created_at: string
}

/** Without a reference to the file: a file is gone at once, and its pieces in portions. */
interface FilePiecesTable {
  file_id: string
  position: number
  sealed: string
}
