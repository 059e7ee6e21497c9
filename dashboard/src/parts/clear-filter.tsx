import { useNavigate } from '@tanstack/react-router'

import { Button } from './button.tsx'

/** `parameters`: those of the address that make up the filter. */
export const ClearFilter = ({ parameters }: { parameters: readonly string[] }) => {
  const navigate = useNavigate()
  const cleared = Object.fromEntries(parameters.map((name) => [name, undefined]))
  return <Button onClick={() => void navigate({ to: '.', search: (search) => ({ ...search, ...cleared }) })}>Clear the filter</Button>
}
