/** A text whose addresses are links. */
export const withLinks = (text: string) =>
  text.split(/(https?:\/\/\S+)/).map((piece) =>
    /^https?:/.test(piece) ? (
      <a key={piece} href={piece}>
        {piece}
      </a>
    ) : (
      piece
    ),
  );
