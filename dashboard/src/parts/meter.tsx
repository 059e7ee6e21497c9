/** The share of a limit from which it counts as nearly used up. */
export const NEAR = 0.8

/** Shows how much of a limit is used. `isLimit` false: the value is only compared with another one, and nothing runs out. */
export const Meter = ({ label, used, limit, isLimit = true }: { label: string; used: number; limit: number; isLimit?: boolean }) => {
  const share = limit === 0 ? 1 : Math.min(1, used / limit)
  return (
    <svg
      className={isLimit ? classOf(share) : 'meter'}
      role="img"
      aria-label={`${label}: ${Math.round(share * 100)} %`}
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
    >
      <rect className="meter-track" width="100" height="6" />
      <rect className="meter-used" width={share * 100} height="6" />
    </svg>
  )
}

const classOf = (share: number): string => {
  if (share >= 1) return 'meter full'
  return share >= NEAR ? 'meter near' : 'meter'
}
