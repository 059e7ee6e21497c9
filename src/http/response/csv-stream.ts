/** A table that is written while it is read: never more than one page of it is in memory. */
import { acceptedTable } from './accepted-table.ts'
import { openResponseWriter } from './response-writer.ts'

/** True if a table is asked for instead of JSON. */
export const acceptsCsv = (headers: Headers): boolean => acceptedTable(headers, ['text/csv']) !== null

/** A failure breaks the connection, so that the beginning is not mistaken for the whole. */
export const csvStream = (file: string, pieces: AsyncIterable<string>, onError: (thrown: unknown) => void): Response => {
  let isGone = false
  const writer = openResponseWriter(() => {
    isGone = true
  })
  const send = async (): Promise<void> => {
    for await (const piece of pieces) {
      if (isGone) return
      await writer.write(piece)
    }
    writer.end('')
  }
  send().catch((thrown: unknown) => {
    onError(thrown)
    writer.cut()
  })
  return new Response(writer.body, { headers: csvHeaders(file) })
}

export const csvHeaders = (file: string): Record<string, string> => ({
  'content-type': 'text/csv; charset=utf-8; header=present',
  'content-disposition': `attachment; filename="${file}"`,
  'cache-control': 'no-store',
})
