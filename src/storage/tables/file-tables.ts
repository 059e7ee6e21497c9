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
  /** The bytes stored so far, also for a file that is still being uploaded. */
  size_bytes: number
  /** 0 while it is being uploaded. */
  complete: number
  /** When the file was completed; before that, when its last piece arrived. */
  created_at: string
}

/** Has no reference to the file, because a file is deleted at once and its pieces in portions. */
interface FilePiecesTable {
  file_id: string
  position: number
  sealed: string
}
