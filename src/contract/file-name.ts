/** How files are named, and how large they may be (docs/contract/files.md). */
import { z } from 'zod'

import { oneLine } from './stored-text.ts'

/** The maximum size of a file. */
export const FILE_BYTES_MAX = 100 * 1024 * 1024

export const fileName = oneLine
  .min(1, 'Give the file a name.')
  .max(255, 'A name may have at most 255 characters.')
  .refine((name) => !/^[/\\]|\.\.|\\/.test(name), 'A name may have no "..", no "\\" and no "/" at its beginning.')
  .refine((name) => name.trim() === name, 'A name may not begin or end with a space.')
  .meta({ description: 'Not unique: a workspace may have several files of one name.', examples: ['report.pdf'] })

export const fileId = z
  .string()
  .min(1)
  .max(128)
  .meta({ description: 'Id of a file.', examples: ['file_4Qd1bVnT0uYkXw7sHc2LmR9p'] })
