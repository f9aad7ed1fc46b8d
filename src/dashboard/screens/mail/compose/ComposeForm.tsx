import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { answer } from '../../../api/client.ts'
import { errorOf } from '../../../api/errors.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { ConfirmDialog } from '../../../components/overlays/ConfirmDialog.tsx'
import { useAction } from '../../../hooks/action.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { useTitle } from '../../../hooks/title.ts'
import { mailStrings as strings } from '../strings.ts'
import { DraftConflict, RestoredNotice } from './DraftNotices.tsx'
import { blankDraft, copiesOf, type DraftFields, isBlank, isSameDraft } from './draft-fields.ts'
import type { SaveState } from './draft-saver.ts'
import { createDraftSaver, type DraftSaver } from './draft-saver.ts'
import { type Draft, draftStore, fieldsOf, readDraft, storedOf } from './draft-store.ts'
import { AttachmentField } from './fields/AttachmentField.tsx'
import { CopyFields } from './fields/CopyFields.tsx'
import { FromField } from './fields/FromField.tsx'
import { readFiles, returnFiles, takeReturnedFiles } from './fields/files.ts'
import { RecipientField } from './fields/RecipientField.tsx'
import { formatSchedule, SendButtons } from './fields/SendButtons.tsx'
import { forgetText, keepText, keptText, tidyKeptTexts } from './kept-text.ts'
import { SaveStatus } from './SaveStatus.tsx'
import { showSent, useOnceSender } from './useSender.ts'

interface ComposeFormProps {
  /** null: a new message. */
  readonly stored: Draft | null
  /** The message was saved for the first time, as this draft. */
  readonly onMade: (id: string) => void
}

/** The name under which a new message is kept on this device. */
const newName = 'new'

/** A message to write: saved as one types, sent now or later. */
export function ComposeForm({ stored, onMade }: ComposeFormProps) {
  const { api, wholeApi, organization, may } = useOrganization()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  useTitle(stored ? strings.draft : strings.newMessage)
  // Drafts belong to the whole organization: members of some of its brands have none.
  const maySave = organization.role !== 'member' && may('drafts:write')
  const base = stored ? fieldsOf(stored) : blankDraft
  const firstName = stored?.id ?? newName
  const [kept] = useState(() => keptText(localStorage, firstName))
  const [isRestored, setRestored] = useState(kept !== null && !isSameDraft(kept, base))
  const [fields, setFields] = useState<DraftFields>(kept ?? base)
  const [files, setFiles] = useState(takeReturnedFiles)
  const [saveState, setSaveState] = useState<SaveState>({ kind: 'saved', draft: stored && storedOf(stored) })
  const [hasCopies, setCopies] = useState(fields.cc.length + fields.bcc.length > 0)
  const [isDiscarding, setDiscarding] = useState(false)
  const { isBusy, error, run } = useAction()
  const sender = useOnceSender()
  const latest = useRef(fields)
  latest.current = fields
  const name = useRef(firstName)

  const onState = useRef<(state: SaveState) => void>(() => undefined)
  onState.current = state => {
    setSaveState(state)
    if (state.kind !== 'saved' || !state.draft) return
    forgetText(localStorage, name.current)
    if (name.current === state.draft.id) return
    name.current = state.draft.id
    onMade(state.draft.id)
    void navigate({
      to: '/$organization/drafts/$draft',
      params: { organization: organization.id, draft: state.draft.id },
      search: true,
      replace: true,
    })
  }
  const saverRef = useRef<DraftSaver>(null)
  saverRef.current ??= createDraftSaver({
    store: draftStore(wholeApi),
    stored: stored && { draft: storedOf(stored), fields: base },
    onState: state => onState.current(state),
  })
  const saver = saverRef.current
  useEffect(() => {
    tidyKeptTexts(localStorage, Date.now())
    return () => {
      void saver.flush().finally(() => {
        saver.stop()
        void queryClient.invalidateQueries({ queryKey: ['drafts'] })
      })
    }
  }, [saver, queryClient])

  const change = useCallback(
    (part: Partial<DraftFields>) => {
      const next = { ...latest.current, ...part }
      latest.current = next
      setFields(next)
      setRestored(false)
      if (!isBlank(next)) keepText(localStorage, name.current, next, Date.now())
      if (maySave) saver.type(next)
    },
    [maySave, saver],
  )
  const onFrom = useCallback((from: string) => change({ from }), [change])

  const leave = () => {
    saver.stop()
    forgetText(localStorage, name.current)
    void queryClient.invalidateQueries({ queryKey: ['drafts'] })
    void navigate({
      to: '/$organization/mail/$folder',
      params: { organization: organization.id, folder: 'inbox' },
      search: true,
    })
  }

  const post = async (at: string | null) => {
    const { from, to, subject, text } = latest.current
    const draft = maySave ? await saver.flush() : null
    // What was changed elsewhere, or could not be saved, is not sent behind the person's back.
    if (maySave && !draft && !isBlank(latest.current)) throw new Error(strings.notSaved)
    if (draft && files.length === 0)
      return sender.send({ draft }, at, attempt =>
        answer(
          wholeApi.v1.POST('/v1/drafts/{id}/send', {
            params: { path: { id: draft.id } },
            headers: { 'Idempotency-Key': attempt.key },
            body: { scheduled_at: attempt.scheduledAt },
          }),
        ),
      )
    const attachments = [...(await readFiles(files))]
    const email = {
      from,
      to: [...to],
      ...copiesOf(latest.current),
      subject,
      text,
      ...(attachments.length > 0 && { attachments }),
    }
    const accepted = await sender.send(email, at, attempt =>
      answer(
        api.v1.POST('/v1/emails', {
          headers: { 'Idempotency-Key': attempt.key },
          body: { ...email, scheduled_at: attempt.scheduledAt },
        }),
      ),
    )
    // It was sent with its attachments, which a draft has not: nothing is left of it to send.
    if (draft)
      await answer(wholeApi.v1.DELETE('/v1/drafts/{id}', { params: { path: { id: draft.id } } })).catch(() => undefined)
    return accepted
  }

  const send = (at: string | null) =>
    run(async () => {
      const sent = latest.current
      const accepted = await post(at)
      const reopen = async () => {
        returnFiles(files)
        const params = { organization: organization.id }
        if (!maySave) {
          keepText(localStorage, newName, sent, Date.now())
          return navigate({ to: '/$organization/mail/compose', params, search: true })
        }
        const { id } = await draftStore(wholeApi).create(sent)
        return navigate({ to: '/$organization/drafts/$draft', params: { ...params, draft: id }, search: true })
      }
      showSent(api, accepted.id, at === null ? strings.goesOut : strings.scheduled(formatSchedule(at)), {
        canceledText: strings.canceled,
        onCanceled: () => void reopen(),
      })
      leave()
    })

  const discard = async () => {
    const draft = saveState.kind === 'saved' ? saveState.draft : await saver.flush()
    saver.stop()
    if (draft) await answer(wholeApi.v1.DELETE('/v1/drafts/{id}', { params: { path: { id: draft.id } } }))
    leave()
  }

  const takeTheirs = async () => {
    const theirs = await readDraft(wholeApi, name.current)
    setFields(fieldsOf(theirs))
    latest.current = fieldsOf(theirs)
    saver.accept(storedOf(theirs), fieldsOf(theirs))
    forgetText(localStorage, name.current)
  }
  const keepMine = async () => {
    const theirs = await readDraft(wholeApi, name.current).catch(() => null)
    await saver.overwrite(theirs && storedOf(theirs))
  }

  const discardRestored = () => {
    forgetText(localStorage, name.current)
    latest.current = base
    setFields(base)
    setRestored(false)
  }

  return (
    <form
      onSubmit={event => event.preventDefault()}
      onKeyDown={event => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !isBusy) void send(null)
      }}
      className="mx-auto max-w-3xl"
    >
      <div className="mb-3 flex min-h-8 flex-wrap items-center justify-between gap-2">
        <h1 className="text-xl font-semibold tracking-tight">{stored ? strings.draft : strings.newMessage}</h1>
        <SaveStatus state={saveState} isLocal={!maySave} />
      </div>
      <div className="flex flex-col gap-3">
        {isRestored && <RestoredNotice onKeep={() => change({})} onDiscard={discardRestored} />}
        {saveState.kind === 'conflict' && (
          <DraftConflict isGone={saveState.isGone} onKeep={keepMine} onTake={takeTheirs} onLeave={leave} />
        )}
        {saveState.kind === 'refused' && <Refusal error={saveState.error} />}
      </div>
      <div className="mt-2 rounded-lg border border-line bg-surface px-4 py-2 sm:px-5">
        <FromField value={fields.from} onValue={onFrom} error={errorOf(error, 'from')} />
        <RecipientField
          label={strings.to}
          value={fields.to}
          onValue={to => change({ to })}
          error={errorOf(error, 'to')}
          hasFocus={!stored}
        />
        {hasCopies ? (
          <CopyFields fields={fields} onChange={change} error={error} />
        ) : (
          <div className="border-b border-line py-1">
            <Button kind="quiet" size="small" onClick={() => setCopies(true)}>
              {strings.showCopies}
            </Button>
          </div>
        )}
        <div className="flex items-center gap-3 border-b border-line py-1.5">
          <label htmlFor="compose-subject" className="w-12 shrink-0 text-sm text-muted">
            {strings.subject}
          </label>
          <input
            id="compose-subject"
            type="text"
            maxLength={998}
            value={fields.subject}
            aria-invalid={errorOf(error, 'subject') ? true : undefined}
            onChange={event => change({ subject: event.currentTarget.value })}
            className="h-8 min-w-0 flex-1 rounded-sm bg-transparent px-1 font-medium"
          />
        </div>
        <textarea
          aria-label={strings.text}
          rows={14}
          value={fields.text}
          onChange={event => change({ text: event.currentTarget.value })}
          className="my-2 block field-sizing-content max-h-[60vh] min-h-56 w-full resize-none rounded-sm bg-transparent px-1 py-1"
        />
      </div>
      {error !== null && (
        <div className="mt-3">
          <Refusal error={error} />
        </div>
      )}
      <div className="mt-3 flex flex-wrap items-start gap-2">
        <SendButtons isBusy={isBusy} onSend={at => void send(at)} />
        {fields.in_reply_to === null && <AttachmentField files={files} onFiles={setFiles} isDraft={maySave} />}
        <Button
          kind="quiet"
          className="ml-auto"
          onClick={() => (isBlank(fields) ? void discard() : setDiscarding(true))}
        >
          {strings.discard}
        </Button>
      </div>
      <ConfirmDialog
        isOpen={isDiscarding}
        onClose={() => setDiscarding(false)}
        title={strings.discardQuestion}
        action={strings.discard}
        isDanger
        onConfirm={discard}
      >
        {strings.discardNote}
      </ConfirmDialog>
    </form>
  )
}
