import { Copy } from './copy.tsx'

/** Text to be pasted elsewhere, unchanged. */
export const CodeBlock = ({ label, text, onCopied }: { label: string; text: string; onCopied?: () => void }) => (
  <div className="snippet">
    <div className="snippet-head">
      <span className="faint small">{label}</span>
      <Copy text={text} {...(onCopied === undefined ? {} : { onCopied })} />
    </div>
    <pre tabIndex={0} aria-label={label}>
      {text}
    </pre>
  </div>
)
