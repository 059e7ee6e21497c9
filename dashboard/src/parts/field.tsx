/** A labelled control, with its help and its fault below it. */
import { cloneElement, type ReactElement, type ReactNode, useId } from 'react'

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly fault?: string | null
  readonly children: ReactElement<{ id?: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }>
}

export const Field = ({ label, hint, fault = null, children }: FieldProps) => {
  const id = useId()
  const about = `${id}-about`
  const hasMore = hint !== undefined || fault !== null
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {cloneElement(children, {
        id,
        ...(hasMore ? { 'aria-describedby': about } : {}),
        ...(fault === null ? {} : { 'aria-invalid': true }),
      })}
      {hasMore ? (
        <div id={about} className={fault === null ? 'hint' : 'fault'} role={fault === null ? undefined : 'alert'}>
          {fault ?? hint}
        </div>
      ) : null}
    </div>
  )
}
