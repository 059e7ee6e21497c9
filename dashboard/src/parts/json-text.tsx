import { FoldedText, withoutData } from './folded-text.tsx'

/** Shows JSON. Long strings inside it are shortened before it is rendered. */
export const JsonText = ({ value }: { value: unknown }) => (
  <FoldedText
    mono
    text={JSON.stringify(value, (_, member: unknown) => (typeof member === 'string' ? withoutData(member) : member), 2) ?? 'null'}
  />
)
