/** Files of a workspace on the wire (docs/contract/files.md). */
import { z } from 'zod'

import { wholeNumber } from './paging.ts'
import { cursorText } from './cursor.ts'
import { fileId, fileName } from './file-name.ts'
import { inWorkspace } from './in-workspace.ts'

/** Clients of the hosted service recognise a file object by this member. */
const shape = { _shape: z.literal('openrouter') }

export const fileResource = z
  .object({
    ...shape,
    id: fileId,
    type: z.literal('file'),
    filename: fileName,
    mime_type: z.string().meta({ description: 'As it was uploaded, without parameters.', examples: ['application/pdf'] }),
    size_bytes: z.int(),
    created_at: z.iso.datetime(),
    downloadable: z.literal(true),
  })
  .meta({ id: 'File' })

export const filePage = z
  .object({
    ...shape,
    data: z.array(fileResource),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    cursor: z.string().nullable().meta({ description: 'For the next page; null at the end.' }),
    next_page: z.string().nullable().meta({ description: 'The same, for clients of Anthropic.' }),
  })
  .meta({ id: 'FilePage' })

export const deletedFile = z.object({ ...shape, id: fileId, type: z.literal('file_deleted') }).meta({ id: 'DeletedFile' })

export const uploadForm = z
  .strictObject({
    file: z.string().meta({ format: 'binary', description: 'At most 100 MiB, with its name.' }),
    purpose: z.string().max(100).optional().meta({ description: 'Clients of OpenAI send it; it changes nothing.' }),
  })
  .meta({ id: 'UploadFileForm' })

const elsewhere = z
  .undefined('Files are stored here, and with no provider.')
  .optional()
  .meta({ description: 'Refused: files are stored here, and with no provider.' })

/** Query parameters of every file operation. */
export const fileQuery = { ...inWorkspace, provider: elsewhere }

export const fileListQuery = {
  ...fileQuery,
  limit: wholeNumber(1, 1000).default('100').meta({ description: 'How many files to answer, at most 1000; 100 when absent.' }),
  cursor: cursorText.optional().meta({ description: 'The `cursor` of the page before.' }),
  page: cursorText.optional().meta({ description: 'The same, as clients of Anthropic send it.' }),
  after: fileId.optional().meta({ description: 'The id behind which the page begins, as clients of OpenAI send it.' }),
  after_id: fileId.optional().meta({ description: 'The same as clients of Anthropic send it.' }),
  before_id: z.undefined('Lists go forward only.').optional().meta({ description: 'Refused: lists go forward only.' }),
  order: z.enum(['asc']).optional().meta({ description: 'The oldest first.' }),
  filename: z.string().min(1).max(255).optional().meta({ description: 'Only files whose name has this in it, in letters of either case.' }),
}

export type FileResource = z.output<typeof fileResource>
export type FilePage = z.output<typeof filePage>
