/** A field of a request that was not applied, and what was done instead. */
export interface Warning {
  readonly code: string
  readonly field: string
  readonly message: string
}

export const warningKey = ({ code, field }: Warning): string => `${code} ${field}`

export const WarningText = ({ of: { field, message } }: { of: Warning }) => (
  <>
    <code>{field}</code> {message}
  </>
)
