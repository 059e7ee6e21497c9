/**
 * The sentence for a file that a request names by an id that means nothing here. `id`: as the client wrote it; null if the part has none.
 */
import { cutText } from '../../lib/text/cut-text.ts'
export const noFile = (providerName: string, id: string | null): string =>
  `${providerName} has no file ${id === null ? 'of this id or place' : JSON.stringify(cutText(id, ID_SHOWN))}; send the file itself as data, or by its URL. Files of your workspace are read by the tool service:files.`

const ID_SHOWN = 100
