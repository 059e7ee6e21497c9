/**
 * Lists, reads, writes and edits the files of the caller's workspace as text. A file is never changed: an edit creates a new one
 * (docs/contract/tools.md#files).
 */
import { isUtf8 } from 'node:buffer'

import { z } from 'zod'

import { argumentSchema } from '../canonical/argument-schema.ts'
import { fileId, fileName } from '../contract/file-name.ts'
import { GatewayError } from '../errors.ts'
import type { Files } from '../files/files.ts'
import type { IdSource } from '../lib/id.ts'
import type { JsonObject } from '../lib/json/json.ts'
import type { StoredFile } from '../storage/files/file-store.ts'
import { type MakeTool, type ToolCaller, type ToolResult } from './tool.ts'

/** The maximum size of a text that is read or written. */
const TEXT_BYTES_MAX = 1024 * 1024
const LISTED_MAX = 100

const text = z.string()
const source = { file_id: fileId.nullish(), filename: fileName.nullish() }

/** The arguments. Models write null for an argument that they leave out. */
const asked = z.discriminatedUnion('operation', [
  z.looseObject({ operation: z.literal('list'), filename_filter: z.string().max(255).nullish() }),
  z.looseObject({ operation: z.literal('read'), ...source }),
  z.looseObject({ operation: z.literal('write'), filename: fileName, content: text }),
  z.looseObject({ operation: z.literal('edit'), ...source, old_string: text.min(1), new_string: text, new_filename: fileName.nullish() }),
])

type Asked<Operation extends string> = Extract<z.output<typeof asked>, { readonly operation: Operation }>

export const filesTool =
  (files: Files, ids: IdSource): MakeTool =>
  (_asked, caller) => ({
    description:
      'Lists, reads, writes and edits text files of this workspace, which last. list: files, optionally those whose name contains filename_filter. read: the text of one, by file_id, or by filename (the newest of that name). write: makes a file of filename and content. edit: makes a new file of the text of one in which old_string, which must be there exactly once, is replaced by new_string; the old file stays as it is.',
    parameters: PARAMETERS,
    async run(input) {
      const wanted = asked.safeParse(input)
      if (!wanted.success) return fault('invalid_tool_input', z.prettifyError(wanted.error))
      try {
        return await operate(wanted.data, { files, ids, caller })
      } catch (thrown) {
        // The workspace is full, or the file was deleted meanwhile: the model gets the fault, and the request continues.
        if (thrown instanceof GatewayError && thrown.status < 500) return fault('unavailable', thrown.publicMessage)
        throw thrown
      }
    },
  })

const argument = (description: string): JsonObject => ({ type: 'string', description })

const PARAMETERS: JsonObject = argumentSchema(
  {
    operation: { type: 'string', enum: ['list', 'read', 'write', 'edit'], description: 'What to do.' },
    file_id: argument('read, edit: the id of the file.'),
    filename: argument('write: the name of the new file. read, edit: the name of the file, where its id is not known.'),
    filename_filter: argument('list: a part of the name.'),
    content: argument('write: the whole text.'),
    old_string: argument('edit: the text to replace, exactly as it is, with enough around it to be there once.'),
    new_string: argument('edit: the text in its place.'),
    new_filename: argument('edit: the name of the new file; the same when absent.'),
  },
  ['operation'],
)

interface Shelf {
  readonly files: Files
  readonly ids: IdSource
  readonly caller: ToolCaller
}

const operate = async (wanted: z.output<typeof asked>, shelf: Shelf): Promise<ToolResult> => {
  switch (wanted.operation) {
    case 'list':
      return list(wanted, shelf)
    case 'read':
      return read(wanted, shelf)
    case 'write':
      return write(wanted.filename, wanted.content, {}, shelf)
    case 'edit':
      return edit(wanted, shelf)
  }
}

const list = async ({ filename_filter: named }: Asked<'list'>, { files, caller }: Shelf): Promise<ToolResult> => {
  const { items, hasMore } = await files.list(caller.workspaceId, { named: named || undefined, limit: LISTED_MAX })
  return done({ files: items.map(described), has_more: hasMore })
}

const read = async (wanted: Asked<'read'>, shelf: Shelf): Promise<ToolResult> => {
  const found = await textOf(wanted, shelf)
  if ('fault' in found) return found
  return done({ ...described(found.file), untrusted: true, source: found.file.filename, content: found.text })
}

const edit = async (wanted: Asked<'edit'>, shelf: Shelf): Promise<ToolResult> => {
  const found = await textOf(wanted, shelf)
  if ('fault' in found) return found
  const { old_string: before, new_string: after, new_filename: filename } = wanted
  const at = found.text.indexOf(before)
  if (at < 0) return fault('invalid_tool_input', 'old_string is not in the file.')
  if (found.text.includes(before, at + 1))
    return fault('invalid_tool_input', 'old_string is in the file more than once: take more of the text around it.')
  const text = found.text.slice(0, at) + after + found.text.slice(at + before.length)
  return write(filename ?? found.file.filename, text, { source_file_id: found.file.id }, shelf)
}

const write = async (filename: string, content: string, more: JsonObject, { files, ids, caller }: Shelf): Promise<ToolResult> => {
  const bytes = Buffer.from(content.toWellFormed())
  if (bytes.byteLength > TEXT_BYTES_MAX) return tooLarge('The text')
  const { workspaceId, by } = caller
  const received = await files.receive(workspaceId, { filename, mimeType: typeOf(filename) }, [bytes])
  // A request may make several changes, and each needs its own entry in the audit log.
  return done({ ...described(await files.keep(received, { ...by, requestId: ids.prefixed(by.requestId) })), ...more })
}

/** Returns the text of a file, or the fault that prevents reading it. */
const textOf = async (
  { file_id: id, filename }: Pick<Asked<'read'>, 'file_id' | 'filename'>,
  { files, caller: { workspaceId } }: Shelf,
): Promise<{ readonly file: StoredFile; readonly text: string } | ToolResult> => {
  if (!id && !filename) return fault('invalid_tool_input', 'Name the file by file_id or by filename.')
  const file = id
    ? await files.get({ workspaceId, everywhere: false, isOperator: false, onlyUserId: null }, id)
    : await files.newestNamed(workspaceId, filename ?? '')
  if (file === null) return fault('unavailable', 'There is no file of this name.')
  if (file.sizeBytes > TEXT_BYTES_MAX) return tooLarge('The file')
  const bytes = Buffer.concat(await Array.fromAsync(files.read(file)))
  if (!isUtf8(bytes)) return fault('unsupported_content_type', 'The file is no text in UTF-8.')
  return { file, text: bytes.toString('utf8') }
}

const described = ({ id, filename, mimeType, sizeBytes, createdAt }: StoredFile): JsonObject => ({
  file_id: id,
  filename,
  mime_type: mimeType,
  size_bytes: sizeBytes,
  created_at: createdAt,
})

const TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  json: 'application/json',
  csv: 'text/csv',
  html: 'text/html',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
}

const typeOf = (filename: string): string => TYPES[/\.([a-z]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? ''] ?? 'text/plain'

const done = (result: JsonObject): ToolResult => ({ fault: null, value: { result } })

const fault = (code: NonNullable<ToolResult['fault']>['code'], message: string): ToolResult => ({
  fault: { code, message },
  value: { error: message },
})

const tooLarge = (what: string): ToolResult => fault('content_too_large', `${what} has more than ${TEXT_BYTES_MAX} bytes.`)
