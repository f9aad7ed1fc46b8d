import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery, type SessionOfAccount } from '../../api/account.ts'
import { answer, app } from '../../api/client.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { Section } from '../../components/layout/Section.tsx'
import { Table } from '../../components/lists/Table.tsx'
import { ConfirmDialog } from '../../components/overlays/ConfirmDialog.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { Tag } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { deviceName } from './device-name.ts'
import { accountStrings as strings } from './strings.ts'

/** Where the person is signed in. This session ends by signing out. */
export function SessionsSection({ sessions }: { readonly sessions: readonly SessionOfAccount[] }) {
  const queryClient = useQueryClient()
  const [asked, setAsked] = useState<SessionOfAccount | null>(null)
  const [error, setError] = useState<unknown>(null)
  const reload = () => queryClient.invalidateQueries({ queryKey: accountQuery.queryKey })
  const end = async () => {
    if (!asked) return
    await answer(app.DELETE('/app/api/account/sessions/{id}', { params: { path: { id: asked.id } } }))
    showToast(strings.sessionEnded)
    await reload()
  }
  const endOthers = async () => {
    setError(null)
    try {
      const { ended } = await answer(app.POST('/app/api/account/sessions/end-others'))
      showToast(strings.othersEnded(ended))
      await reload()
    } catch (thrown) {
      setError(thrown)
    }
  }
  return (
    <Section
      title={strings.sessions}
      hint={strings.sessionsHint}
      actions={sessions.length > 1 && <Button onClick={() => void endOthers()}>{strings.endOthers}</Button>}
    >
      {error !== null && <Refusal error={error} />}
      <Table
        label={strings.sessions}
        rows={sessions}
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'device',
            label: strings.device,
            isTitle: true,
            isWide: true,
            cell: session => (
              <span className="inline-flex max-w-full items-center gap-2">
                <span className="truncate">{deviceName(session.user_agent ?? strings.unknownDevice)}</span>
                {session.is_current && <Tag>{strings.thisOne}</Tag>}
              </span>
            ),
          },
          { key: 'address', label: strings.address, cell: ({ ip }) => <span className="tabular">{ip}</span> },
          { key: 'since', label: strings.since, cell: ({ created_at }) => <Time at={created_at} /> },
          { key: 'use', label: strings.lastUse, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
          {
            key: 'actions',
            label: strings.end,
            isActions: true,
            cell: session =>
              !session.is_current && (
                <Button kind="quiet" size="small" onClick={() => setAsked(session)}>
                  {strings.end}
                </Button>
              ),
          },
        ]}
      />
      <ConfirmDialog
        isOpen={asked !== null}
        onClose={() => setAsked(null)}
        title={strings.endSession}
        action={strings.end}
        isDanger
        onConfirm={end}
      >
        {strings.endSessionHint}
      </ConfirmDialog>
    </Section>
  )
}
