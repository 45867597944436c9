import { ChangeForm, type Faults, TextField } from '../forms.tsx';

/** The form for a code that was sent. */
export function CodeForm({
  action,
  next,
  faults,
  hasCode,
  button,
}: {
  action: string;
  next: string;
  faults?: Faults;
  hasCode: boolean;
  button: string;
}) {
  return (
    <ChangeForm action={action} class="form code-form">
      <input type="hidden" name="next" value={next} />
      <TextField
        name="code"
        label="Code"
        hint="Six digits, such as 123 456"
        faults={faults}
        autocomplete="one-time-code"
        inputmode="numeric"
        maxLength={32}
        autofocus={!faults && hasCode}
      />
      <button class={hasCode ? 'btn' : 'btn second'} type="submit">
        {button}
      </button>
    </ChangeForm>
  );
}

/** Says where the code is, or that a new one is needed. */
export function CodeLead({ email, hasCode }: { email: string; hasCode: boolean }) {
  const address = <strong class="address">{email}</strong>;
  if (!hasCode) return <p class="lead">No code for {address} works any more: send a new one.</p>;
  return (
    <p class="lead">
      We have sent a code to {address}. It works for 15 minutes, only in this browser. Or open the link in the mail, in
      this browser.
    </p>
  );
}
