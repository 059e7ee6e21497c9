/** A field that a request asked for and did not get, and what became of it. */
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
