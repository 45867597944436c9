// Reads one case per line and prints `true` or `false` for each one: see verifiers.test.ts.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"example/webhooks"
)

func main() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		fields := strings.Fields(line)
		bytes := func(index int) []byte {
			decoded, _ := hex.DecodeString(fields[index][1:])
			return decoded
		}
		now, _ := strconv.ParseInt(fields[3], 10, 64)
		fmt.Println(webhooks.Verify(string(bytes(0)), string(bytes(1)), bytes(2), time.Unix(now, 0)))
	}
}
