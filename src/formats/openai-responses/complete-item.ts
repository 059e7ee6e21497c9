/** An upstream's output items with what strict clients need of them and some upstreams leave out (docs/contract/responses.md#answer). */
import { editElements } from '../../lib/json-splice.ts'
import { missingMembers } from '../missing-members.ts'
import { bodyOfParsed } from '../relay-text.ts'

/** The items of a whole response, as JSON text: what has all stays as it was written. */
export const completeOutput = (output: string): string =>
  lacksMembers(output) ? editElements(output, (item) => (lacksMembers(item) ? completeItem(item) : item)) : output

/** Found by a search: within a string of JSON a quote has a backslash before it. */
export const lacksMembers = (json: string): boolean =>
  NEEDS.some(([kind, ...members]) => {
    const wanted = count(json, kind)
    return wanted > 0 && members.some((member) => count(json, member) < wanted)
  })

export const completeItem = (json: string): string => {
  const item = bodyOfParsed(json)
  const type = item.get('type')
  if (type === 'reasoning') return item.textWith(missingMembers(item, { summary: '[]' }))
  if (type !== 'message') return json
  const content = item.raw('content')
  const parts = content?.startsWith('[') === true ? editElements(content, completePart) : '[]'
  return item.textWith({ content: parts, ...missingMembers(item, { role: '"assistant"' }) })
}

/** xAI sends the address of a page, and no more. */
export const completeSource = (json: string): string => {
  const source = bodyOfParsed(json)
  return source.get('type') === 'url_citation'
    ? source.textWith(missingMembers(source, { title: '""', start_index: '0', end_index: '0' }))
    : json
}

const completePart = (json: string): string => {
  const part = bodyOfParsed(json)
  if (part.get('type') !== 'output_text') return json
  const annotations = part.raw('annotations')
  return part.textWith({ annotations: annotations?.startsWith('[') === true ? editElements(annotations, completeSource) : '[]' })
}

/** The members that each kind of thing has to have. */
const NEEDS: readonly (readonly [kind: RegExp, ...members: readonly RegExp[]])[] = [
  [/"type"\s*:\s*"message"/g, /"role"\s*:/g, /"content"\s*:/g],
  [/"type"\s*:\s*"reasoning"/g, /"summary"\s*:/g],
  [/"type"\s*:\s*"output_text"/g, /"annotations"\s*:\s*\[/g],
  [/"type"\s*:\s*"url_citation"/g, /"title"\s*:/g, /"start_index"\s*:/g, /"end_index"\s*:/g],
]

const count = (json: string, pattern: RegExp): number => json.match(pattern)?.length ?? 0
