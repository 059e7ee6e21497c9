/** A person, as the service knows them. An id that a machine made is cut; the whole one is in the tooltip. */
const MADE = /^(user_[0-9a-f]{8})-[0-9a-f-]{27}$/

export const Person = ({ id }: { id: string | null | undefined }) => {
  if (id === null || id === undefined || id === '') return <span className="faint">–</span>
  const short = MADE.exec(id)?.[1]
  return <span title={id}>{short === undefined ? id : `${short}…`}</span>
}
