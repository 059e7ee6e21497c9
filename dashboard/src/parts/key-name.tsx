/** The name of a key. The key of somebody's playground is named by a part of their id, so it shows their name or address, where it is known. */
import { useNameOf } from './person.tsx'

const OF_PLAYGROUND = /^playground \((user_[0-9a-f]{8})\)$/

export const KeyName = ({ name }: { name: string }) => {
  const person = useNameOf(OF_PLAYGROUND.exec(name)?.[1] ?? '')
  return person === null ? name : <span title={name}>{`playground (${person})`}</span>
}
