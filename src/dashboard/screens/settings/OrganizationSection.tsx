import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { errorOf } from '../../api/errors.ts'
import type { components } from '../../api/generated/app.ts'
import { sessionQuery } from '../../api/session.ts'
import { Button } from '../../components/actions/Button.tsx'
import { CopyButton } from '../../components/actions/CopyButton.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { Card, Section } from '../../components/layout/Section.tsx'
import { KeyValues } from '../../components/lists/KeyValues.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useAction } from '../../hooks/action.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { settingStrings as strings } from './strings.ts'

interface OrganizationSectionProps {
  readonly data: components['schemas']['Organization']
}

/** The organization's name and id. */
export function OrganizationSection({ data }: OrganizationSectionProps) {
  const { organization } = useOrganization()
  const [isRenaming, setRenaming] = useState(false)
  return (
    <Section title={strings.organization}>
      <Card>
        <KeyValues
          items={[
            [
              strings.name,
              <span key="name" className="flex min-w-0 items-center justify-between gap-2">
                <SafeText text={data.name} className="min-w-0 truncate" />
                {organization.role !== 'member' && (
                  <Button size="small" onClick={() => setRenaming(true)}>
                    {strings.rename}
                  </Button>
                )}
              </span>,
            ],
            [
              strings.id,
              <span key="id" className="flex min-w-0 items-center justify-between gap-1 font-mono text-xs">
                <span className="min-w-0 truncate">{data.id}</span>
                <CopyButton text={data.id} />
              </span>,
            ],
            [strings.since, <Time key="since" at={data.created_at} show="day" />],
          ]}
        />
      </Card>
      {isRenaming && <RenameDialog name={data.name} onClose={() => setRenaming(false)} />}
    </Section>
  )
}

function RenameDialog({ name: before, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { wholeApi } = useOrganization()
  const queryClient = useQueryClient()
  const [name, setName] = useState(before)
  const { isBusy, error, run } = useAction()
  const rename = () =>
    run(async () => {
      await answer(wholeApi.app.PATCH('/app/api/organization', { body: { name } }))
      void queryClient.invalidateQueries({ queryKey: ['organization'] })
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
      showToast(strings.renamed)
      onClose()
    })
  const nameError = errorOf(error, 'name')
  return (
    <Dialog isOpen onClose={onClose} title={strings.rename} width="small">
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          void rename()
        }}
      >
        <TextInput
          label={strings.name}
          error={nameError}
          value={name}
          onValue={setName}
          required
          maxLength={120}
          autoComplete="organization"
        />
        {error !== null && !nameError && <Refusal error={error} />}
        <Button type="submit" kind="primary" isBusy={isBusy} className="self-end">
          {strings.save}
        </Button>
      </form>
    </Dialog>
  )
}
