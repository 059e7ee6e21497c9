import { askRaw } from '../api/client.ts'
import type { Query } from '../api/path.ts'

/** Without it, Excel reads the file in the character set of its country (decisions/0164). */
const BYTE_ORDER_MARK = '\uFEFF'

/** Downloads the table that the path has for the query. Throws ApiError. */
export const saveCsv = async (path: string, query: Query, name: string): Promise<void> => {
  const response = await askRaw(path, { query, headers: { accept: 'text/csv' } })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([BYTE_ORDER_MARK, await response.blob()]))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
