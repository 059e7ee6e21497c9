/** An editor for JSON: a plain field until the real one is loaded, and for good where it cannot be. */
import { type FunctionComponent, useEffect, useId, useState } from 'react'

import type { CodeEditorProps } from './code-editor.tsx'

interface JsonEditorProps {
  readonly label: string
  readonly value: string
  readonly fault?: string | null
  readonly onChange: (text: string) => void
}

export const JsonEditor = ({ label, value, fault = null, onChange }: JsonEditorProps) => {
  const id = useId()
  const CodeEditor = useCodeEditor()
  // The editor comes once a person who has begun to type leaves the field, or their keys would go nowhere.
  const [hasFocus, setFocus] = useState(false)
  return (
    <div className="field">
      {CodeEditor === null || hasFocus ? (
        <textarea
          aria-label={label}
          aria-describedby={id}
          aria-invalid={fault !== null}
          value={value}
          rows={10}
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
          onFocus={() => setFocus(true)}
          // Where the window loses the focus, the field has it again when the window has.
          onBlur={(event) => setFocus(document.activeElement === event.currentTarget)}
        />
      ) : (
        <CodeEditor label={label} describedBy={id} value={value} onChange={onChange} />
      )}
      <div id={id} className="fault" role={fault === null ? undefined : 'alert'}>
        {fault}
      </div>
    </div>
  )
}

let loaded: FunctionComponent<CodeEditorProps> | null = null

const useCodeEditor = (): FunctionComponent<CodeEditorProps> | null => {
  const [editor, setEditor] = useState(() => loaded)
  useEffect(() => {
    if (editor !== null) return
    void import('./code-editor.tsx').then(
      (parts) => {
        loaded = parts.CodeEditor
        setEditor(() => parts.CodeEditor)
      },
      // The plain field does the same, without colours.
      () => undefined,
    )
  }, [editor])
  return editor
}
