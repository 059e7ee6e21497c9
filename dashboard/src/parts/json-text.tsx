import { FoldedText, withoutData } from './folded-text.tsx'

/** JSON to read. What is long inside of it is shortened before it is laid out. */
export const JsonText = ({ value }: { value: unknown }) => (
  <FoldedText
    mono
    text={JSON.stringify(value, (_, member: unknown) => (typeof member === 'string' ? withoutData(member) : member), 2) ?? 'null'}
  />
)
