/**
 * Data for the page's script. Unlike in an attribute, its quotes are not escaped, which would take six bytes for each.
 * Without "<", no text in the data can end the element.
 */
export const PageData = ({ id, data }: { id: string; data: object }) => (
  <script
    type="application/json"
    id={id}
    dangerouslySetInnerHTML={{ __html: JSON.stringify(data).replaceAll('<', '\\u003c') }}
  />
);
