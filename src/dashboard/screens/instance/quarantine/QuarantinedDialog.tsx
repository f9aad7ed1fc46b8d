import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { KeyValues } from '../../../components/lists/KeyValues.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { Bytes } from '../../../components/text/Amount.tsx'
import { CodeBlock } from '../../../components/text/CodeBlock.tsx'
import { SafeText, showControls } from '../../../components/text/SafeText.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { QuarantineActionDialog } from './QuarantineActionDialog.tsx'
import type { QuarantineActionName, QuarantinedMessage, QuarantineSelection } from './quarantine.ts'
import { quarantineStrings as strings } from './strings.ts'
import { Verdict } from './Verdict.tsx'

interface QuarantinedDialogProps {
  readonly message: QuarantinedMessage
  readonly onClose: () => void
}

/** All that is known of a message in quarantine, and what can be done with it. */
export function QuarantinedDialog({ message, onClose }: QuarantinedDialogProps) {
  const [pending, setPending] = useState<{ action: QuarantineActionName; selection: QuarantineSelection } | null>(null)
  const { data, error } = useQuery({
    queryKey: ['instance', 'quarantine', 'message', message.id],
    queryFn: () => answer(app.GET('/app/api/instance/quarantine/{id}', { params: { path: { id: message.id } } })),
  })
  const one = { ids: [message.id] }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={showControls(message.subject) || strings.noSubject}
      width="large"
      footer={
        <>
          <Button kind="danger" onClick={() => setPending({ action: 'delete', selection: one })}>
            {strings.actions.delete.name}
          </Button>
          {message.scan === 'error' && (
            <Button onClick={() => setPending({ action: 'rescan', selection: one })}>
              {strings.actions.rescan.name}
            </Button>
          )}
          <Button onClick={() => setPending({ action: 'release', selection: one })}>
            {strings.actions.release.name}
          </Button>
        </>
      }
    >
      <KeyValues
        items={[
          [strings.verdict, <Verdict key="verdict" scan={message.scan} signature={message.scan_signature} />],
          [strings.from, <SafeText key="from" text={message.from_address} />],
          [strings.envelope, <SafeText key="envelope" text={message.mail_from} none="<>" />],
          [strings.to, <SafeText key="to" text={message.rcpt_to} />],
          [strings.received, <Time key="received" at={message.received_at} show="full" />],
          [strings.client, <SafeText key="client" text={`${message.remote_ip} (${message.helo})`} />],
          [strings.authentication, `spf ${message.spf}, dkim ${message.dkim}, dmarc ${message.dmarc}`],
          message.scan === 'error'
            ? [strings.nextScan, <Time key="scan" at={message.rescan_at} none={strings.never} />]
            : null,
          [strings.messageHash, <Hash key="hash" value={message.sha256} />],
        ]}
      />
      {message.attachments.length > 0 && (
        <>
          <h3 className="mt-5 mb-2 text-base font-semibold">{strings.attachments}</h3>
          <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
            {message.attachments.map(attachment => (
              <li key={`${attachment.sha256} ${attachment.filename}`} className="px-3 py-2.5 text-sm">
                <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
                  <span className="min-w-0 font-medium break-all">
                    <SafeText text={attachment.filename} />
                  </span>
                  <span className="flex items-center gap-3">
                    <Bytes value={attachment.size} />
                    <Verdict scan={attachment.scan} signature={attachment.scan_signature} />
                  </span>
                </div>
                <div className="mt-1 flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
                  <Hash value={attachment.sha256} />
                  <span className="flex gap-2">
                    {(['release', 'delete'] as const).map(action => (
                      <Button
                        key={action}
                        size="small"
                        kind="quiet"
                        onClick={() => setPending({ action, selection: { sha256: attachment.sha256 } })}
                      >
                        {strings.actions[action].name}: {strings.allOfHash.toLowerCase()}
                      </Button>
                    ))}
                  </span>
                </div>
              </li>
            ))}
          </ul>
        </>
      )}
      <h3 className="mt-5 mb-2 text-base font-semibold">{strings.header}</h3>
      {error && <Refusal error={error} />}
      {!data && !error && <SkeletonRows rows={3} />}
      {data &&
        (data.header === null ? (
          <p className="text-muted">{strings.noHeader}</p>
        ) : (
          <CodeBlock label={strings.header} code={showControls(data.header.replaceAll('\r\n', '\n')).trimEnd()} />
        ))}
      {data && data.audit.length > 0 && (
        <>
          <h3 className="mt-5 mb-2 text-base font-semibold">{strings.log}</h3>
          <ul className="text-sm text-muted">
            {data.audit.map(entry => (
              <li key={`${entry.at} ${entry.action}`}>
                <Time at={entry.at} show="full" /> <SafeText text={entry.actor} /> {entry.action}
              </li>
            ))}
          </ul>
        </>
      )}
      {pending && <QuarantineActionDialog {...pending} onClose={() => setPending(null)} onDone={onClose} />}
    </Dialog>
  )
}

function Hash({ value }: { readonly value: string | null }) {
  return <span className="font-mono text-xs break-all text-muted">{value ?? strings.noHeader}</span>
}
