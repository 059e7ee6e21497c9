import { Copy } from './copy.tsx'

/** Text to be pasted elsewhere, unchanged. */
export const CodeBlock = ({ label, text, ...copy }: { label: string; text: string; isFirst?: boolean; onCopied?: () => void }) => (
  <div className="snippet">
    <div className="snippet-head">
      <span className="faint small">{label}</span>
      <Copy text={text} {...copy} />
    </div>
    <pre tabIndex={0} aria-label={label}>
      {text}
    </pre>
  </div>
)
