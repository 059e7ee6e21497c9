import type { PresetShape } from '../api/presets.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { exampleTools, formFault, parseTools } from './tools.ts'
import { useTextOf } from './use-text-of.ts'

interface ToolsFieldProps {
  readonly shape: PresetShape
  /** The member `tools` of the settings. */
  readonly tools: unknown
  readonly onChange: (tools: unknown) => void
  /** The text of a lock on the tools, if there is one. */
  readonly lock: string | undefined
}

/** The tools that a model may call, in the format of the interface. */
export const ToolsField = ({ shape, tools, onChange, lock }: ToolsFieldProps) => {
  const { text, fault, change } = useTextOf(tools, parseTools, laidOut, onChange)
  const unread = fault === null ? null : `${fault} Until it is mended, the request has the tools before this change.`
  return (
    <div className="stack">
      <Field
        label="Tools"
        hint={lock ?? 'A list in JSON. { "type": "service:web_search" } is one of the service’s own.'}
        fault={unread ?? formFault(tools, shape)}
      >
        <textarea
          className="code"
          rows={Math.min(16, Math.max(2, text.split('\n').length))}
          value={text}
          placeholder="none"
          spellCheck={false}
          onChange={(event) => change(event.target.value)}
        />
      </Field>
      {text.trim() === '' ? (
        <div>
          <Button kind="quiet" onClick={() => change(laidOut(exampleTools(shape)))}>
            Insert an example
          </Button>
        </div>
      ) : null}
    </div>
  )
}

const laidOut = (tools: unknown): string => (tools === undefined ? '' : JSON.stringify(tools, null, 2))
