/** The name of a key. The key of somebody's playground is named by a part of their id, so it shows their name or address, where it is known. */
import { SeenText } from '../diff/seen-text.tsx'
import { useNameOf } from './person.tsx'

const OF_PLAYGROUND = /^playground \((user_[0-9a-f]{8})\)$/

export const KeyName = ({ name }: { name: string }) => {
  const shown = useKeyName(name)
  return shown === name ? <SeenText text={name} /> : <span title={name}>{shown}</span>
}

export const useKeyName = (name: string): string => {
  const person = useNameOf(personOfPlayground(name) ?? '')
  return person === null ? name : playgroundOf(person)
}

/** The shortened id in the name of the key of a playground; null if it is another key. */
export const personOfPlayground = (name: string): string | null => OF_PLAYGROUND.exec(name)?.[1] ?? null

/** The words to search for, if this is the name that a playground’s key is shown by: the person, or the address behind their name. */
export const holderOfPlayground = (shown: string): string | null => /^playground \((?:.*, )?(.+)\)$/.exec(shown)?.[1] ?? null

export const playgroundOf = (person: string): string => `playground (${person})`
