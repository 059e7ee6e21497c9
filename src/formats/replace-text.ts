/** Replaces the text of a whole answer in a vendor's own format; every other byte stays. */
import type { ClientDialect } from '../canonical/call.ts'
import { editElements, editMembers, rawMember } from '../lib/json/json-splice.ts'

/** `change` is called with each choice's text, or with the last text of the answer if it has several. Throws JsonTextError. */
export const replaceText = (dialect: ClientDialect, json: string, change: (text: string) => string): string => {
  switch (dialect) {
    case 'chat':
      return inMember(json, 'choices', (choices) => editElements(choices, (choice) => inChoice(choice, change)))
    case 'messages':
      return inMember(json, 'content', (blocks) => inLast(blocks, 'text', (block) => inText(block, 'text', change)))
    case 'responses':
      return inMember(json, 'output', (items) =>
        inLast(items, 'message', (item) =>
          inMember(item, 'content', (parts) => inLast(parts, 'output_text', (part) => inText(part, 'text', change))),
        ),
      )
  }
}

/** An answer that was cut by its length limit is left unchanged. */
const inChoice = (choice: string, change: (text: string) => string): string =>
  rawMember(choice, 'finish_reason') === '"length"' ? choice : inMember(choice, 'message', (message) => inText(message, 'content', change))

const inMember = (object: string, name: string, edit: (raw: string) => string): string => {
  const raw = rawMember(object, name)
  if (raw === undefined || !/^[[{"]/.test(raw)) return object
  const edited = edit(raw)
  return edited === raw ? object : editMembers(object, { [name]: edited })
}

const inText = (object: string, name: string, change: (text: string) => string): string =>
  inMember(object, name, (raw) => {
    if (!raw.startsWith('"')) return raw
    const text = JSON.parse(raw) as string
    const changed = change(text)
    return changed === text ? raw : JSON.stringify(changed)
  })

const inLast = (array: string, type: string, edit: (element: string) => string): string => {
  if (!array.startsWith('[')) return array
  let last = -1
  editElements(array, (element, at) => {
    if (element.startsWith('{') && rawMember(element, 'type') === JSON.stringify(type)) last = at
    return element
  })
  return last < 0 ? array : editElements(array, (element, at) => (at === last ? edit(element) : element))
}
