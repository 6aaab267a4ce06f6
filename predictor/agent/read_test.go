package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
)

// node is a root folder with what a node of a cluster may have.
var node = map[string]string{
	"proc/loadavg":            "8.00 6.00 4.00 2/345 6789\n",
	"proc/pressure/memory":    "some avg10=0.00 avg60=1.00 avg300=2.50 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
	"proc/pressure/io":        "some avg10=0.00 avg60=1.00 avg300=12.00 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
	"proc/sys/kernel/tainted": "4625\n", // P, M, W, O
	"proc/self/mountinfo": `22 27 0:21 / /proc rw,relatime - proc proc ro
27 1 8:1 / / ro,relatime - ext4 /dev/sda1 rw,errors=remount-ro
28 27 8:1 /var/tmp /a rw,relatime - ext4 /dev/sda1 rw,errors=remount-ro
29 27 8:2 / /scratch rw,relatime - xfs /dev/sdb1 ro,noquota
30 27 7:0 / /snap ro,relatime - squashfs /dev/loop0 ro
31 27 0:50 / /home rw,relatime - nfs4 server:/home ro,vers=4.2
32 27 0:77 / /tmp/of\040alice rw,nosuid,nodev,relatime shared:9 - fuse.x /dev/sdz1 ro,user_id=1001,group_id=1001
33 27 8:3 / /tmp/alice2 rw,nosuid,nodev,relatime - fuseblk /dev/sda3 ro,user_id=1001,group_id=1001
34 27 7:1 / /tmp/image rw,nosuid,nodev - ext4 /dev/loop1 ro
35 27 0:41 / /tmp/layers rw - overlay overlay ro,lowerdir=/a
36 27 0:42 / /data rw - btrfs /dev/sdc ro,space_cache
37 27 0:43 / /auto rw - autofs systemd-1 rw,fd=30
`,
	"sys/devices/system/cpu/online":                                       "0-1,3\n",
	"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count":    "3\n",
	"sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count": "5\n",
	"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count":    "4\n",
	"sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count": "5\n",
	"sys/class/thermal/thermal_zone0/type":                                "x86_pkg_temp\n",
	"sys/class/thermal/thermal_zone0/policy":                              "step_wise\n",
	"sys/class/thermal/thermal_zone0/temp":                                "61500\n",
	"sys/class/thermal/thermal_zone1/type":                                "broken\n",
	"sys/class/thermal/thermal_zone2/type":                                "acpitz\n",
	"sys/class/thermal/thermal_zone2/policy":                              "step_wise\n",
	"sys/class/thermal/thermal_zone2/temp":                                "-274000\n",
	"sys/devices/system/edac/mc/mc0/ce_count":                             "17\n",
	"sys/devices/system/edac/mc/mc0/ue_count":                             "0\n",
	"sys/devices/system/edac/mc/mc1/ce_count":                             "0\n",
	"sys/devices/system/edac/mc/mc1/ue_count":                             "garbage\n",
	"sys/block/sda/device/ioerr_cnt":                                      "0x1f\n",
	"sys/block/nvme0n1/size":                                              "1\n",
	"sys/fs/ext4/sda1/errors_count":                                       "2\n",
	"sys/fs/ext4/loop1/errors_count":                                      "9\n",
	"sys/class/net/eth0/device/vendor":                                    "0x8086\n",
	"sys/class/net/eth0/statistics/rx_errors":                             "3\n",
	"sys/class/net/eth0/statistics/tx_errors":                             "1\n",
	"sys/class/net/eth0/carrier_down_count":                               "1\n",
	"sys/class/net/lo/statistics/rx_errors":                               "99\n",
	"sys/class/infiniband/mlx5_0/fw_ver":                                  "1\n",
	"sys/class/infiniband/mlx5_0/ports/1/link_layer":                      "InfiniBand\n",
	"sys/class/infiniband/mlx5_0/ports/1/state":                           "4: ACTIVE\n",
	"sys/class/infiniband/mlx5_0/ports/1/phys_state":                      "5: LinkUp\n",
	"sys/class/infiniband/mlx5_0/ports/1/rate":                            "100 Gb/sec (4X EDR)\n",
	"sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error":           "10\n",
	"sys/class/infiniband/mlx5_0/ports/1/counters/link_downed":            "2\n",
	"metrics/dcgm.prom": `# HELP DCGM_FI_DEV_XID_ERRORS Value of the last XID error encountered.
# TYPE DCGM_FI_DEV_XID_ERRORS gauge
DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-1",device="nvidia0",modelName="NVIDIA A100",err_msg="a \"b\" }"} 79
DCGM_FI_DEV_XID_ERRORS{UUID="GPU-2",gpu="1",device="nvidia1"} 0
# TYPE DCGM_FI_DEV_ECC_SBE_VOL_TOTAL counter
DCGM_FI_DEV_ECC_SBE_VOL_TOTAL{gpu="0",UUID="GPU-1"} 4
DCGM_FI_DEV_ECC_SBE_AGG_TOTAL{gpu="0",UUID="GPU-1"} 7
DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{gpu="0",UUID="GPU-1"} 1
DCGM_FI_DEV_ECC_CURRENT{gpu="0"} 1
DCGM_FI_DEV_GPU_TEMP{gpu="0"} 60
`,
	"metrics/site.prom": "site_xid_errors_total{minor_number=\"2\"} 3 1700000000000\nsite_ecc_corrected NaN\nsite_ecc_corrected{gpu=\"2\"} -1\n",
	"metrics/job.prom":  "xid_errors{gpu=\"3\"} 31\nDCGM_EXP_XID_ERRORS_COUNT{gpu=\"3\",xid=\"13\"} 8\nDCGM_EXP_XID_ERRORS_COUNT{gpu=\"3\",xid=\"79\"} 2\n",
	"metrics/other.txt": "xid{gpu=\"7\"} 1\n",
}

// tree makes a root folder.
func tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestRead(t *testing.T) {
	got := Reader{Root: tree(t, node), Textfiles: []string{"/metrics", "/nowhere"}}.Read()
	want := []api.Signal{
		{Name: "io_pressure", Value: 12},
		{Name: "load", Value: 2},
		{Name: "memory_pressure", Value: 2.5},
		{Name: "temperature", Value: 61.5},
		{Name: "thermal_throttles", Value: 5},
		{Name: "disk_errors", Of: "sda", Value: 31},
		{Name: "filesystem_errors", Of: "sda1", Value: 2},
		{Name: "gpu_errors_corrected", Of: "0", Value: 11},
		{Name: "gpu_errors_uncorrected", Of: "0", Value: 1},
		{Name: "gpu_xid", Of: "0", Value: 79},
		{Name: "gpu_xid", Of: "1", Value: 0},
		{Name: "gpu_xid", Of: "3"},
		{Name: "gpu_xids", Of: "2", Value: 3},
		{Name: "gpu_xids", Of: "3", Value: 2},
		{Name: "kernel_taint", Of: "B"},
		{Name: "kernel_taint", Of: "D"},
		{Name: "kernel_taint", Of: "L"},
		{Name: "kernel_taint", Of: "M", Value: 1},
		{Name: "kernel_taint", Of: "W", Value: 1},
		{Name: "memory_errors_corrected", Of: "mc0", Value: 17},
		{Name: "memory_errors_corrected", Of: "mc1"},
		{Name: "memory_errors_uncorrected", Of: "mc0"},
		{Name: "network_errors", Of: "eth0", Value: 5},
		{Name: "network_errors", Of: "mlx5_0/1", Value: 12},
		{Name: "read_only", Of: "/"},
		{Name: "read_only", Of: "/data", Value: 1},
		{Name: "read_only", Of: "/scratch", Value: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestReadNothing: a node without all that, and one with garbage, is measured as far as it goes.
func TestReadNothing(t *testing.T) {
	if got := (Reader{Root: filepath.Join(t.TempDir(), "nowhere")}).Read(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	garbage := map[string]string{}
	for name := range node {
		garbage[name] = "\x00{}=\"\n- -\xff"
	}
	if got := (Reader{Root: tree(t, garbage), Textfiles: []string{"metrics"}}).Read(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestReadMuch: of a node with too many parts as much is sent as varqd takes.
func TestReadMuch(t *testing.T) {
	files := map[string]string{"proc/loadavg": "1 1 1 1/1 1\n", "sys/devices/system/cpu/online": "0\n"}
	for i := range 2 * api.MaxSignals {
		files[fmt.Sprintf("sys/devices/system/edac/mc/mc%d/ce_count", i)] = "1\n"
	}
	for i := range api.MaxSignals { // more than fit, of another kind
		files[fmt.Sprintf("sys/block/sd%d/device/ioerr_cnt", i)] = "1\n"
	}
	files["sys/block/"+strings.Repeat("x", api.MaxOf+1)+"/device/ioerr_cnt"] = "1\n"
	got := Reader{Root: tree(t, files)}.Read()
	of := map[string]int{}
	for _, s := range got {
		of[s.Name]++
	}
	const each = api.MaxSignals / 4
	if diff := cmp.Diff(map[string]int{api.SignalLoad: 1, api.SignalMemoryCorrected: each, api.SignalDisk: each}, of); diff != "" || got[0].Name != api.SignalLoad {
		t.Errorf("%v first; %s", got[0], diff)
	}
}

// Pipes and devices are not waited for.
func TestReadPipes(t *testing.T) {
	root := t.TempDir()
	r := Reader{Root: root, Textfiles: []string{"metrics"}}
	for _, path := range []string{"sys/devices/system/edac/mc/mc0/ce_count", "metrics/gpu.prom"} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.Read(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestManyMounts: however many mounts a user adds, and with whatever names, those of disks are
// found.
func TestManyMounts(t *testing.T) {
	var list strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&list, "%d 27 0:%d / /tmp/%s rw - fuse.x /dev/sdz1 ro,user_id=1001\n", 100+i, i, strings.Repeat("\\040", 4096))
	}
	fmt.Fprintf(&list, "9 27 0:9 / /%s rw - fuse.x /dev/sdz1 ro,user_id=1001\n", strings.Repeat("x", 2*longestMount))
	list.WriteString("garbage\n28 27 8:1 / / rw - ext4 /dev/sda1 ro\n")
	got := Reader{Root: tree(t, map[string]string{"proc/self/mountinfo": list.String()})}.Read()
	if diff := cmp.Diff([]api.Signal{{Name: "read_only", Of: "/", Value: 1}}, got); diff != "" {
		t.Error(diff)
	}
}

// Metrics that everybody can write are nobody's word.
func TestMetricsOfEverybody(t *testing.T) {
	for name, open := range map[string]string{"folder": "metrics", "file": "metrics/gpu.prom"} {
		t.Run(name, func(t *testing.T) {
			r := Reader{Root: tree(t, map[string]string{"metrics/gpu.prom": "xid{gpu=\"0\"} 79\n"}), Textfiles: []string{"metrics"}}
			if got := r.Read(); len(got) != 1 {
				t.Errorf("%+v", got)
			}
			if err := os.Chmod(filepath.Join(r.Root, open), 0o777); err != nil {
				t.Fatal(err)
			}
			if got := r.Read(); len(got) != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func FuzzMounts(f *testing.F) {
	f.Add(node["proc/self/mountinfo"])
	f.Fuzz(func(t *testing.T, text string) {
		seen := 0
		parseMounts(strings.NewReader(text), func(m mount) {
			seen++
			if strings.ContainsAny(m.device+m.point+m.kind, " \n") {
				t.Errorf("%+v", m)
			}
		})
		if seen > strings.Count(text, "\n")+1 {
			t.Errorf("%d of %q", seen, text)
		}
	})
}
