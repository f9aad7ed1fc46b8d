import { useState } from 'react'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { suppressionStrings as strings } from '../strings.ts'
import type { Incident } from './undo-task.ts'

interface IncidentFormProps {
  readonly id: string
  readonly onIncident: (incident: Incident) => void
}

/** Says which suppressions came of an incident: by the text of the reply, by when, or by both. */
export function IncidentForm({ id, onIncident }: IncidentFormProps) {
  const [reply, setReply] = useState('')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const isWindowNeeded = reply.trim() === ''
  return (
    <form
      id={id}
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        onIncident({
          ...(reply.trim() && { reply: reply.trim() }),
          ...(from && { from: new Date(from).toISOString() }),
          ...(to && { to: new Date(to).toISOString() }),
        })
      }}
    >
      <p className="text-muted">{strings.undoHint}</p>
      <TextInput
        label={strings.reply}
        hint={strings.replyHint}
        isCode
        isOptional
        maxLength={500}
        autoComplete="off"
        value={reply}
        onValue={setReply}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextInput
          label={strings.from}
          type="datetime-local"
          isOptional={!isWindowNeeded}
          required={isWindowNeeded}
          max={to}
          value={from}
          onValue={setFrom}
        />
        <TextInput
          label={strings.to}
          type="datetime-local"
          isOptional={!isWindowNeeded}
          required={isWindowNeeded}
          min={from}
          value={to}
          onValue={setTo}
        />
      </div>
    </form>
  )
}
