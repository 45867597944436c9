/** The service's mark: the arrowhead that also stands for the car on the map. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#0b6e6e" />
      <path d="M16 6l8 19-8-4-8 4z" fill="#fff" />
    </svg>
  );
}
