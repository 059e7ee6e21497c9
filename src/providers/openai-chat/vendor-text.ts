/**
 * An upstream's own JSON as clients of this dialect can read it. Vendors have words of their own for thinking: one that
 * is a further field is repeated under the field's common name, one that changes the type of `content` cannot be passed on.
 */
import { isObject } from '../../lib/json.ts'

/** The text to pass on; null where the answer has to be rendered from its events. `parsed` is `text`, parsed; it may be changed. */
export const chatText = (parsed: Record<string, unknown>, text: string): string | null => {
  // Nearly every text has neither: two searches, and it goes on as it came.
  const vendorReasoning = text.includes('"reasoning_content"')
  if (!vendorReasoning && !CONTENT_LIST.test(text)) return text
  let renamed = false
  for (const said of saidIn(parsed)) {
    if (Array.isArray(said['content'])) return null
    if (typeof said['reasoning_content'] === 'string' && said['reasoning'] === undefined) {
      said['reasoning'] = said['reasoning_content']
      renamed = true
    }
  }
  return renamed ? JSON.stringify(parsed) : text
}

const CONTENT_LIST = /"content"\s*:\s*\[/

const saidIn = (parsed: Record<string, unknown>): Record<string, unknown>[] =>
  (Array.isArray(parsed['choices']) ? parsed['choices'] : [])
    .filter(isObject)
    .flatMap((choice) => [choice['delta'], choice['message']])
    .filter(isObject)
