import type { ReactNode } from 'react'

export interface Figure {
  readonly name: string
  readonly value: ReactNode
}

/** A few large figures beside each other. */
export const Figures = ({ figures }: { figures: readonly Figure[] }) => (
  <dl className="figures">
    {figures.map(({ name, value }) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd className="number">{value}</dd>
      </div>
    ))}
  </dl>
)
