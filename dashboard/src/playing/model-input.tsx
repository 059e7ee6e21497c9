import { useQuery } from '@tanstack/react-query'
import { useId, useMemo, type ComponentProps } from 'react'

import { modelList } from '../api/models.ts'
import { NameOptions } from '../parts/name-options.tsx'

interface ModelInputProps extends Omit<ComponentProps<'input'>, 'onChange' | 'value'> {
  readonly value: string
  readonly onChange: (model: string) => void
}

/** The name of a model or a preset, with the existing ones to choose from. */
export const ModelInput = ({ onChange, ...rest }: ModelInputProps) => {
  const models = useQuery(modelList)
  const names = useMemo(() => (models.data ?? []).map((model) => model.id), [models.data])
  const id = useId()
  return (
    <>
      <input
        {...rest}
        list={id}
        onChange={(event) => onChange(event.target.value)}
        placeholder="model or @preset/name"
        spellCheck={false}
        autoComplete="off"
      />
      <NameOptions id={id} names={names} typed={rest.value} />
    </>
  )
}
