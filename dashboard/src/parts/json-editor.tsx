/** An editor for JSON: a plain field until the real one is loaded, and for good where it cannot be. */
import { lazy, Suspense, useId } from 'react'

import { FaultBoundary } from './panel.tsx'

const CodeEditor = lazy(() => import('./code-editor.tsx').then(({ CodeEditor }) => ({ default: CodeEditor })))

interface JsonEditorProps {
  readonly label: string
  readonly value: string
  readonly fault?: string | null
  readonly onChange: (text: string) => void
}

export const JsonEditor = ({ label, value, fault = null, onChange }: JsonEditorProps) => {
  const id = useId()
  const plain = (
    <textarea
      aria-label={label}
      aria-describedby={id}
      aria-invalid={fault !== null}
      value={value}
      rows={10}
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
    />
  )
  return (
    <div className="field">
      <FaultBoundary>
        <Suspense fallback={plain}>
          <CodeEditor label={label} describedBy={id} value={value} onChange={onChange} />
        </Suspense>
      </FaultBoundary>
      <div id={id} className="fault" role={fault === null ? undefined : 'alert'}>
        {fault}
      </div>
    </div>
  )
}
