/** Providers with their present state, and the models that requests may name. */
import { useSearch } from '@tanstack/react-router'

import { CopyCurl } from '../../parts/copy-curl.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { tabNamed, Tabs } from '../../parts/tabs.tsx'
import { ModelTable } from './model-table.tsx'
import { ProviderTable } from './provider-table.tsx'
import { TestAll } from './test-provider.tsx'
import { useProviderTests } from './use-provider-tests.ts'

const TABS = [
  { id: 'providers', title: 'Providers' },
  { id: 'models', title: 'Models' },
] as const

export const ModelsScreen = () => {
  const tab = tabNamed(TABS, useSearch({ strict: false })['tab'])
  const tests = useProviderTests()
  return (
    <>
      <ScreenHead title="Models">
        <CopyCurl path={tab === 'models' ? '/models' : '/providers/health'} />
        {tab === 'providers' ? <TestAll tests={tests} /> : null}
      </ScreenHead>
      <Tabs label="Providers and models" tabs={TABS} current={tab} />
      <Panel title={tab === 'models' ? 'Models' : 'Providers'} quiet>
        {tab === 'models' ? <ModelTable /> : <ProviderTable tests={tests} />}
      </Panel>
    </>
  )
}
