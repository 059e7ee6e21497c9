/** Switches between a form and JSON as the editor of the same object. */
export const FormOrJson = ({ label, asJson, onChoose }: { label: string; asJson: boolean; onChoose: (asJson: boolean) => void }) => (
  <div className="segmented" role="group" aria-label={label}>
    <button type="button" aria-pressed={!asJson} onClick={() => onChoose(false)}>
      Form
    </button>
    <button type="button" aria-pressed={asJson} onClick={() => onChoose(true)}>
      JSON
    </button>
  </div>
)
