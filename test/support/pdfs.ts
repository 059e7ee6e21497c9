/** Minimal PDFs with one line of text on each page. */
export const pdfOf = (pages: readonly string[], { encrypted = false } = {}): Buffer => {
  const kids = pages.map((_, index) => `${FIRST_PAGE + index * 2} 0 R`).join(' ')
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((text, index) => {
      const drawn = text === '' ? '' : `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${FIRST_PAGE + 1 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
        `<< /Length ${drawn.length} >>\nstream\n${drawn}\nendstream`,
      ]
    }),
    // Encrypted with an unknown password.
    ...(encrypted ? [`<< /Filter /Standard /V 1 /R 2 /O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> /P -4 >>`] : []),
  ]
  let file = '%PDF-1.4\n'
  const places = objects.map((object, index) => {
    const place = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return place
  })
  const xref = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  const lock = encrypted ? ` /Encrypt ${objects.length} 0 R /ID [<00> <00>]` : ''
  return Buffer.from(
    `${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${xref}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R${lock} >>\nstartxref\n${file.length}\n%%EOF`,
    'latin1',
  )
}

const FIRST_PAGE = 4
