import { useQuery } from '@tanstack/react-query'
import { useId, type ComponentProps } from 'react'

import { modelList } from '../api/models.ts'

/** The name of a model or a preset, with the existing ones to choose from. */
export const ModelInput = ({ onChange, ...rest }: Omit<ComponentProps<'input'>, 'onChange'> & { onChange: (model: string) => void }) => {
  const models = useQuery(modelList)
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
      <datalist id={id}>
        {(models.data ?? []).map((model) => (
          <option key={model.id} value={model.id} />
        ))}
      </datalist>
    </>
  )
}
