import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { errorOf } from '../../api/errors.ts'
import type { components } from '../../api/generated/app.ts'
import { sessionQuery } from '../../api/session.ts'
import { Button } from '../../components/actions/Button.tsx'
import { CopyButton } from '../../components/actions/CopyButton.tsx'
import { ConflictNotice } from '../../components/conflict/ConflictNotice.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { Card, Section } from '../../components/layout/Section.tsx'
import { KeyValues } from '../../components/lists/KeyValues.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useConditionalSave } from '../../hooks/conditional-save.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { settingStrings as strings } from './strings.ts'

type OwnOrganization = components['schemas']['Organization']

interface OrganizationSectionProps {
  readonly data: OwnOrganization
}

/** The organization's name and id. */
export function OrganizationSection({ data }: OrganizationSectionProps) {
  const { organization } = useOrganization()
  // As it was when the dialog was opened, whatever comes meanwhile.
  const [renamed, setRenamed] = useState<OwnOrganization | null>(null)
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
                  <Button size="small" onClick={() => setRenamed(data)}>
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
      {renamed && <RenameDialog stored={renamed} onClose={() => setRenamed(null)} />}
    </Section>
  )
}

function RenameDialog({ stored, onClose }: { readonly stored: OwnOrganization; readonly onClose: () => void }) {
  const { wholeApi } = useOrganization()
  const queryClient = useQueryClient()
  const [name, setName] = useState(stored.name)
  const { isBusy, error, isConflict, save, keepMine, takeTheirs } = useConditionalSave<OwnOrganization>({
    stored,
    read: () => answer(wholeApi.app.GET('/app/api/organization')),
    async save(if_updated_at) {
      const saved = await answer(wholeApi.app.PATCH('/app/api/organization', { body: { name, if_updated_at } }))
      void queryClient.invalidateQueries({ queryKey: ['organization'] })
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
      showToast(strings.renamed)
      onClose()
      return saved
    },
    show: theirs => setName(theirs.name),
  })
  const nameError = errorOf(error, 'name')
  return (
    <Dialog isOpen onClose={onClose} title={strings.rename} width="small">
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        {isConflict && <ConflictNotice onKeep={keepMine} onTake={takeTheirs} />}
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
